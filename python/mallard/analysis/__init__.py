"""What a journal means: objects, symbols, sites, subsystems and their D V L U C."""
