"""Imports every module of the packages that are named, so that all of their code is compiled and run once."""

import importlib
import pkgutil
import sys

for name in sys.argv[1:]:
    package = importlib.import_module(name)
    count = sum(1 for module in pkgutil.walk_packages(package.__path__, f"{name}.") if importlib.import_module(module.name))
    if count == 0:
        sys.exit(f"{name} has no modules")
