"""Pictures of a design: its topology and its racks, as SVG and PNG."""
