"""People, organisations, departments, roles and service accounts, and the one door to "may this person" (design §9)."""
