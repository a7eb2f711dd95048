/* Put behind a page's own scripts by tests/browser/test_page.sh: what each
 * chart holds beside what it was to draw, how much of it is ink, whether a
 * table tells the same, and how long the page took, as JSON in the page. */
"use strict";
addEventListener("load", function () {
	var specs = JSON.parse(document.getElementById("data").textContent);
	var out = document.createElement("script");

	/* The table that is next to it, or next to what holds it. */
	function hasTable(canvas) {
		var h = canvas.closest("main"), node = canvas;
		while (node && node !== h) {
			for (var n = node.nextElementSibling; n && n.tagName !== "H2" &&
				n.tagName !== "H3"; n = n.nextElementSibling)
				if (n.tagName === "TABLE" || n.querySelector("table"))
					return true;
			for (n = node.previousElementSibling; n &&
				n.tagName !== "H2"; n = n.previousElementSibling)
				if (n.tagName === "TABLE" || n.querySelector("table"))
					return true;
			node = node.parentNode;
		}
		return false;
	}
	var charts = specs.map(function (spec, i) {
		var canvas = document.getElementById("c" + i);
		var chart = Chart.getChart(canvas);
		var pixels = canvas.getContext("2d")
			.getImageData(0, 0, canvas.width, canvas.height).data;
		var inked = 0, colors = {};

		for (var k = 0; k < pixels.length; k += 4) {
			if (pixels[k + 3] < 128)
				continue;
			inked++;
			colors[pixels[k] >> 5 << 10 | pixels[k + 1] >> 5 << 5 |
				pixels[k + 2] >> 5] = 1;
		}
		return {
			spec: spec,
			drawn: canvas.dataset.drawn === "true",
			inked: inked,
			colors: Object.keys(colors).length,
			table: hasTable(canvas),
			datasets: !chart ? [] : chart.data.datasets.map(
				function (d) {
					return { label: d.label, data: d.data };
				})
		};
	});
	out.type = "application/json";
	out.id = "probe";
	out.textContent = JSON.stringify({
		charts: charts,
		ms: performance.now(),
		dark: matchMedia("(prefers-color-scheme: dark)").matches,
		wide: document.documentElement.scrollWidth >
			document.documentElement.clientWidth
	}).replace(/</g, "\\u003c");
	document.body.appendChild(out);
});
