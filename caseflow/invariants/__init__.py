"""The promises of design §13 that rows can prove, a module per idea; `running` has the list."""
