"""The doorbell: Dramatiq's broker, asserted at start.

Without an explicit broker Dramatiq silently takes RabbitMQ on localhost, then Redis with every default middleware.
"""

import dramatiq
from django.core.exceptions import ImproperlyConfigured
from dramatiq import Broker
from dramatiq.brokers.redis import RedisBroker


def require_redis(found: Broker) -> RedisBroker:
    """Return the broker if it is the one of the settings; raise ImproperlyConfigured otherwise."""
    if not isinstance(found, RedisBroker):
        raise ImproperlyConfigured(
            f"The message broker is {type(found).__name__}, not RedisBroker. Is 'django_dramatiq' in INSTALLED_APPS?"
        )
    return found


broker = require_redis(dramatiq.get_broker())
