"""Programs as targets: ``file.py:name`` and ``package.module:name``. Which framework it is shows once the object is there."""
