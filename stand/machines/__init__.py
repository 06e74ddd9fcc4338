"""Two machines against one PostgreSQL and one Valkey; one of them is cut off and killed while tickets come in."""
