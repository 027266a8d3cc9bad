"""``python -m enfold``."""

from enfold.cli import main

if __name__ == "__main__":
    main()
