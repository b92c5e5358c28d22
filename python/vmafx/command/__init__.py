"""The command `vmafx`: docs/command.md of the sources describes it."""
