"""Pictures as inline SVG, a file a kind. They are drawn by matplotlib and coloured by the page."""
