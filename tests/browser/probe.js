/* Put behind a page's own scripts by tests/browser/test_page.sh: what each
 * chart holds, and how much of it is ink, as JSON in the page. */
"use strict";
addEventListener("load", function () {
	var found = {}, out = document.createElement("script");

	document.querySelectorAll("canvas").forEach(function (canvas) {
		var chart = Chart.getChart(canvas);
		var pixels = canvas.getContext("2d")
			.getImageData(0, 0, canvas.width, canvas.height).data;
		var inked = 0, colors = {};

		for (var i = 0; i < pixels.length; i += 4) {
			if (pixels[i + 3] < 128)
				continue;
			inked++;
			colors[pixels[i] >> 5 << 10 | pixels[i + 1] >> 5 << 5 |
				pixels[i + 2] >> 5] = 1;
		}
		found[canvas.id] = {
			drawn: canvas.dataset.drawn === "true",
			inked: inked,
			colors: Object.keys(colors).length,
			labels: chart ? chart.data.labels : null,
			datasets: !chart ? [] : chart.data.datasets.map(
				function (d) {
					return { label: d.label, data: d.data };
				})
		};
	});
	out.type = "application/json";
	out.id = "probe";
	out.textContent = JSON.stringify({
		charts: found,
		dark: matchMedia("(prefers-color-scheme: dark)").matches,
		wide: document.documentElement.scrollWidth >
			document.documentElement.clientWidth
	}).replace(/</g, "\\u003c");
	document.body.appendChild(out);
});
