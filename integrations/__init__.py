"""Outside systems: one adapter file each. An adapter reads, performs and looks up; it decides nothing."""
