"""The worker's entry for Dramatiq, `caseflow.worker:broker`; `manage.py run_workers` starts and supervises it."""

import logging
import os

import django
from django.utils.module_loading import autodiscover_modules

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "caseflow.settings")
# The broker is set while the apps load; the apps register their stages in `ready()`.
django.setup()

from caseflow.broker import broker as broker  # noqa: E402

autodiscover_modules("actors")

# Through Dramatiq's pipe its parent would read each line and write it again, and be woken for it. They go out here
# instead, each in one piece.
_stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
for _handler in logging.getLogger().handlers:
    if isinstance(_handler, logging.StreamHandler):
        _handler.setStream(_stderr)
