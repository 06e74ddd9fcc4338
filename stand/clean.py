"""`make clean`: remove what this checkout keeps outside its own folder."""

import shutil

from stand.environment import FOLDER, sole_use
from stand.unprivileged import find_account, shared_folder


def main() -> None:
    with sole_use(FOLDER):  # not under a running demo
        if account := find_account():
            shutil.rmtree(shared_folder(account), ignore_errors=True)


if __name__ == "__main__":
    main()
