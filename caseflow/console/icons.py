"""Drawings of 16 × 16 units, in the colour of the text beside them."""

ICONS: dict[str, str] = {
    "check": '<path d="M3 8.5 6.5 12 13 4.5"/>',
    "cross": '<path d="m4 4 8 8M12 4l-8 8"/>',
    "minus": '<circle cx="8" cy="8" r="6"/><path d="M5 8h6"/>',
    "clock": '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>',
    "warning": '<path d="M8 2 14.5 13.5h-13zM8 6.5v3M8 11.5v.01"/>',
    "question": '<circle cx="8" cy="8" r="6"/><path d="M6 6.3a2 2 0 1 1 2.6 2.2c-.4.2-.6.5-.6 1M8 11.4v.01"/>',
    "person": '<circle cx="8" cy="5" r="2.5"/><path d="M3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4"/>',
    "people": '<circle cx="6" cy="5.5" r="2.3"/><path d="M1.5 13c.4-2.7 2.2-3.7 4.5-3.7s4.1 1 4.5 3.7"/>'
    '<path d="M10.5 3.4a2.2 2.2 0 0 1 0 4.2M12 9.7c1.4.4 2.2 1.5 2.5 3.3"/>',
    "pause": '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
    "play": '<path d="M5 3.5v9l7.5-4.5z"/>',
    "mail": '<rect x="2" y="3.5" width="12" height="9" rx="1"/><path d="m2.5 4.5 5.5 4 5.5-4"/>',
    "search": '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>',
    "inbox": '<path d="M2 9.5h3.5l1 2h3l1-2H14M2 9.5 4 3.5h8l2 6v3H2z"/>',
    "home": '<path d="m2 8 6-5.5L14 8M4 7v6.5h8V7"/>',
    "list": '<path d="M5.5 4H14M5.5 8H14M5.5 12H14M2.5 4v.01M2.5 8v.01M2.5 12v.01"/>',
    "copy": '<rect x="5.5" y="5.5" width="8" height="8" rx="1"/><path d="M10.5 5.5v-3h-8v8h3"/>',
    "change": '<path d="M2.5 6h9l-2.5-2.5M13.5 10h-9L7 12.5"/>',
    "undo": '<path d="M3 6.5h6.5a3 3 0 1 1 0 6H6M3 6.5 5.5 4M3 6.5 5.5 9"/>',
    "chart": '<path d="M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6"/>',
    "gear": '<circle cx="8" cy="8" r="2.2"/>'
    '<path d="M8 2v2M8 12v2M2 8h2M12 8h2m-8-4 1.4 1.4m5.2 5.2L12 12M4 12l1.4-1.4m5.2-5.2L12 4"/>',
    "log": '<path d="M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2.5"/>',
    "out": '<path d="M6.5 2.5h-4v11h4M6 8h8M11.5 5.5 14 8l-2.5 2.5"/>',
}
