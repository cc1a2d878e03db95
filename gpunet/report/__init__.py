"""Reports: what a design or the catalogue says, for people and as files. Every report is a function of a result."""
