"""gpunet designs the network of a GPU cluster and proves the design."""

__version__ = "0.1.0"
