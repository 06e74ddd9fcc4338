"""The browser face: pages gather by selectors, change by services, and work without JavaScript (console.md)."""
