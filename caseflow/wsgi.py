"""The web server's entry: `gunicorn caseflow.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "caseflow.settings")

application = get_wsgi_application()
