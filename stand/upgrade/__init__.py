"""From an earlier state of this product to this one, with work of every kind open."""
