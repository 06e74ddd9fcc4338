"""`make screenshots`: start everything, tell a story, walk every page in every variant, write the pictures.

Exit codes: 0 nothing is wrong, 1 something is (each is printed), 2 usage.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from stand.environment import CHECKOUT, temporary_folder
from stand.system import System
from stand.testrun import CHROMIUM
from tests.flows.running import Running

from .pages import PAGES
from .readme import PICTURES, take_pictures
from .story import Teller, Told
from .walking import Found, Looks, Walk

LANGUAGES = ("ru", "en")
THEMES = ("light", "dark")
UNDO = "15"  #: seconds; the story does not wait for them
FILL = 700  #: generated cases, so that lists and charts have something to show


def main() -> int:
    parser = argparse.ArgumentParser(prog="make screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=CHECKOUT / "screenshots", help="folder of the pictures")
    parser.add_argument("--only", nargs="+", metavar="PAGE", help="names from tests/walk/pages.py")
    parser.add_argument("--readme", action="store_true", help="the pictures of the README only, into docs/pictures")
    options = parser.parse_args()
    unknown = set(options.only or ()) - {page.name for page in PAGES}
    if unknown:
        parser.error(f"no such page: {', '.join(sorted(unknown))}")
    pages = [page for page in PAGES if not options.only or page.name in options.only]
    with temporary_folder() as folder:
        known = {"CASEFLOW_DEMO": "1", "CASEFLOW_UNDO_SECONDS": "0", "CASEFLOW_FAST_HASH": "1"}
        system = System(folder, environment=known, tell=_tell)
        try:
            with system, sync_playwright() as playwright:
                running = _run(system)
                told = Teller(running).tell()
                running.restart("web", CASEFLOW_UNDO_SECONDS=UNDO)  # what pages say of it
                browser = _browser(playwright)
                try:
                    if options.readme:
                        told.resume()
                        return take_pictures(browser, running, told, CHECKOUT / PICTURES)
                    return _walk(browser, system, told, pages, options.out)
                finally:
                    browser.close()
                    told.close()
                    running.close()
        finally:
            system.discard()


def _run(system: System) -> Running:
    """The demo's people, and many cases of long ago."""
    token = system.manage_json("bootstrap", "--demo")["token"]
    _tell(f"writing {FILL} cases")
    command = [sys.executable, "-m", "tests.generated", "--cases", str(FILL)]
    subprocess.run(
        command,
        cwd=CHECKOUT,
        env=system.environment | {"CASEFLOW_UNDO_SECONDS": UNDO},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    _tell("telling the story")
    return Running(system, bell=None, token=token)


def _browser(playwright) -> Browser:
    known = os.environ.get("CASEFLOW_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    return playwright.chromium.launch(executable_path=known, args=["--no-sandbox"] if os.geteuid() == 0 else [])


def _walk(browser: Browser, system: System, told: Told, pages: list, out: Path) -> int:
    whole, begun = Found(), time.monotonic()
    for language in LANGUAGES:
        found = Walk(browser, system.base_url, told, Looks(language, THEMES, out)).walk(pages)
        _tell(f"{language}: {found.pages} pages in {found.seconds:.0f} s, of which axe took {found.axe_seconds:.0f} s")
        whole += found
    for sentence in whole.everything:
        print(sentence)
    print("\nlanguage  theme  pages  violations")
    for language in LANGUAGES:
        for theme in THEMES:
            number = sum(f", {language}, {theme}: " in one for one in whole.violations)
            print(f"{language:<8}  {theme:<5}  {len(pages):>5}  {number:>10}")
    print(
        f"pages {len(pages)}, variants {len(LANGUAGES) * len(THEMES)}, violations {len(whole.violations)},"
        f" console errors {len(whole.console)}, policy violations {len(whole.policy)}, too wide {len(whole.too_wide)};"
        f" {time.monotonic() - begun:.0f} s; pictures in {out}"
    )
    return 1 if whole.everything else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
