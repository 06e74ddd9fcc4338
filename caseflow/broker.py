"""The doorbell: Dramatiq's broker, asserted at start.

Without an explicit broker Dramatiq silently takes RabbitMQ on localhost, then Redis with every default middleware.
"""

import dramatiq

from caseflow.watching import require_watched

broker = require_watched(dramatiq.get_broker())
