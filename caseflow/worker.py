"""The worker's entry for Dramatiq, `caseflow.worker:broker`; `manage.py run_workers` starts and supervises it."""

import os

import django
from django.utils.module_loading import autodiscover_modules

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "caseflow.settings")
# The broker is set while the apps load; the apps register their stages in `ready()`.
django.setup()

from caseflow.broker import broker as broker  # noqa: E402

autodiscover_modules("actors")
