"""``python -m tallymark``: the same as the ``tallymark`` command."""

from tallymark.cli import main

if __name__ == "__main__":
    main()
