"use strict";
/* Draws the charts of a report from the data in the page, which say what to
 * draw and nothing of where it is from (report/page.h). All texts reach the
 * page through Chart.js's canvas: nothing here makes HTML of them. */
(function () {
	var specs = JSON.parse(document.getElementById("data").textContent);
	var COLORS = 8; /* --c0 ... in the style */
	var DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
	var SHAPES = ["circle", "rect", "triangle", "rectRot", "star",
		"crossRot", "rectRounded", "cross"];
	var charts = [];

	/* --- looks --- */

	function style(name) {
		return getComputedStyle(document.documentElement)
			.getPropertyValue(name).trim();
	}
	function color(i) { return style("--c" + i % COLORS); }
	function pale(hex) { return hex + "55"; }
	function dash(i) {
		return DASHES[Math.floor(i / COLORS) % DASHES.length];
	}
	function shape(i) { return SHAPES[i % SHAPES.length]; }
	/* Bars beyond the colours are told apart by stripes. */
	function fill(i, is_pale) {
		var base = is_pale ? pale(color(i)) : color(i), tile, pen;
		if (i < COLORS)
			return base;
		tile = document.createElement("canvas");
		tile.width = tile.height = 6;
		pen = tile.getContext("2d");
		pen.fillStyle = pale(color(i));
		pen.fillRect(0, 0, 6, 6);
		pen.strokeStyle = color(i);
		pen.lineWidth = 2;
		pen.beginPath();
		if (Math.floor(i / COLORS) % 2) {
			pen.moveTo(0, 6);
			pen.lineTo(6, 0);
		} else {
			pen.moveTo(3, 0);
			pen.lineTo(3, 6);
		}
		pen.stroke();
		return pen.createPattern(tile, "repeat");
	}

	/* --- numbers as texts --- */

	/* 1 ms from 1000000 ns */
	function time(ns) {
		var units = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]];
		for (var i = 0; i < units.length; i++)
			if (Math.abs(ns) >= units[i][1])
				return Number((ns / units[i][1]).toPrecision(3)) +
					" " + units[i][0];
		return "0";
	}
	/* x is 1 / (1 - percentile): 10 is the 90th. */
	function percentile(x) {
		return x <= 1 ? "0 %" :
			Number((100 - 100 / x).toPrecision(7)) + " %";
	}
	function number(v) { return String(Number(Number(v).toPrecision(4))); }
	function text(axis, v) {
		if (axis.unit === "time")
			return time(v);
		if (axis.unit === "percentile")
			return percentile(v);
		return number(v) + (axis.unit ? " " + axis.unit : "");
	}
	function tick(axis) {
		return function (v) {
			var first;
			if (axis.unit === "percentile")
				return Number.isInteger(Math.log10(v)) || v === 2 ?
					percentile(v) : null;
			if (!axis.log)
				return axis.unit === "time" ? time(v) : number(v);
			/* powers of ten, and 2 and 5 between them */
			first = Number(Number(v).toExponential(5).split("e")[0]);
			return first === 1 || first === 2 || first === 5 ?
				text(axis, v) : null;
		};
	}

	/* --- what Chart.js does not draw --- */

	/* A line across the value axis from low to high, with ends. */
	function whisker(pen, x0, y0, x1, y1, across) {
		pen.beginPath();
		pen.moveTo(x0, y0);
		pen.lineTo(x1, y1);
		if (across) {
			pen.moveTo(x0 - 3, y0);
			pen.lineTo(x0 + 3, y0);
			pen.moveTo(x1 - 3, y1);
			pen.lineTo(x1 + 3, y1);
		} else {
			pen.moveTo(x0, y0 - 3);
			pen.lineTo(x0, y0 + 3);
			pen.moveTo(x1, y1 - 3);
			pen.lineTo(x1, y1 + 3);
		}
		pen.stroke();
	}
	function bands(chart, spec) {
		var pen = chart.ctx, x = chart.scales.x, y = chart.scales.y;
		spec.series.forEach(function (s, i) {
			var with_interval = s.data.filter(function (p) {
				return p.length === 4;
			});
			if (!with_interval.length || !chart.isDatasetVisible(i))
				return;
			pen.fillStyle = color(s.color) + "26";
			pen.beginPath();
			with_interval.forEach(function (p) {
				pen.lineTo(x.getPixelForValue(p[0]),
					y.getPixelForValue(p[3]));
			});
			with_interval.slice().reverse().forEach(function (p) {
				pen.lineTo(x.getPixelForValue(p[0]),
					y.getPixelForValue(p[2]));
			});
			pen.fill();
			pen.strokeStyle = color(s.color);
			pen.lineWidth = 1;
			with_interval.forEach(function (p) {
				var at = x.getPixelForValue(p[0]);
				whisker(pen, at, y.getPixelForValue(p[2]),
					at, y.getPixelForValue(p[3]), true);
			});
		});
	}
	function barWhiskers(chart, spec) {
		var pen = chart.ctx, x = chart.scales.x;
		pen.strokeStyle = style("--ink");
		pen.lineWidth = 1;
		spec.series.forEach(function (s, i) {
			if (!chart.isDatasetVisible(i))
				return;
			chart.getDatasetMeta(i).data.forEach(function (bar, k) {
				var v = s.data[k];
				if (v && v.length === 3)
					whisker(pen, x.getPixelForValue(v[1]), bar.y,
						x.getPixelForValue(v[2]), bar.y);
			});
		});
	}
	/* The median to the 99th percentile, below the dot of the mean. */
	function ranges(chart, spec) {
		var pen = chart.ctx, x = chart.scales.x;
		pen.lineWidth = 2;
		spec.series.forEach(function (s, i) {
			if (!chart.isDatasetVisible(i))
				return;
			pen.strokeStyle = color(s.color);
			pen.setLineDash(dash(s.color));
			chart.getDatasetMeta(i).data.forEach(function (bar, k) {
				var v = s.data[k];
				if (v)
					whisker(pen, x.getPixelForValue(v[1]), bar.y,
						x.getPixelForValue(v[2]), bar.y);
			});
			pen.setLineDash([]);
			pen.fillStyle = color(s.color);
			chart.getDatasetMeta(i).data.forEach(function (bar, k) {
				if (!s.data[k])
					return;
				pen.beginPath();
				pen.arc(x.getPixelForValue(s.data[k][0]), bar.y, 4,
					0, 2 * Math.PI);
				pen.fill();
			});
		});
	}
	function overlaps(a, b) {
		return a.left < b.right && b.left < a.right &&
			a.top < b.bottom && b.top < a.bottom;
	}
	/* Where the lines run, each few pixels. */
	function tracks(chart) {
		var all = [];
		chart.data.datasets.forEach(function (d, i) {
			var points = chart.getDatasetMeta(i).data;
			points.forEach(function (p, k) {
				var to = points[k + 1] || p, n, j;
				n = Math.ceil(Math.hypot(to.x - p.x, to.y - p.y) / 5);
				for (j = 0; j <= n; j++)
					all.push([p.x + (to.x - p.x) * j / (n || 1),
						p.y + (to.y - p.y) * j / (n || 1)]);
			});
		});
		return all;
	}
	/* Near (x, y), where no other label is and least of the lines. */
	function place(chart, taken, lines, x, y, width) {
		var area = chart.chartArea, tries = [], best = null, i, box;
		for (i = 0; i < 8; i++)
			tries.push([x - width / 2, y - 24 - 12 * i],
				[x - width / 2, y + 10 + 12 * i],
				[x + 10, y + 6 + 12 * i],
				[x - width - 10, y - 20 - 12 * i]);
		for (i = 0; i < tries.length; i++) {
			box = { left: Math.min(Math.max(tries[i][0], area.left + 2),
				area.right - width - 2), top: tries[i][1] };
			box.right = box.left + width;
			box.bottom = box.top + 14;
			if (box.top < area.top || box.bottom > area.bottom ||
				taken.some(overlaps.bind(null, box)))
				continue;
			/* A line through it is worse than a little way off. */
			box.cost = i / 3 + lines.filter(function (p) {
				return p[0] > box.left - 3 && p[0] < box.right + 3 &&
					p[1] > box.top - 2 && p[1] < box.bottom + 2;
			}).length;
			if (!best || box.cost < best.cost)
				best = box;
		}
		if (best)
			taken.push(best);
		return best;
	}
	/* With a rim of paper, so that lines below do not cross it out. */
	function label(pen, what, box, hue) {
		pen.textAlign = "left";
		pen.textBaseline = "top";
		pen.lineJoin = "round";
		pen.lineWidth = 4;
		pen.strokeStyle = style("--paper");
		pen.strokeText(what, box.left, box.top + 1);
		pen.fillStyle = hue;
		pen.fillText(what, box.left, box.top + 1);
	}
	function marks(chart, spec) {
		var pen = chart.ctx, taken = [], lines;
		if (!spec.marks)
			return;
		lines = tracks(chart);
		pen.font = "600 11px " + Chart.defaults.font.family;
		spec.marks.forEach(function (m) {
			var x = chart.scales.x.getPixelForValue(m.x);
			var y = chart.scales.y.getPixelForValue(m.y);
			pen.strokeStyle = color(m.color);
			pen.lineWidth = 2;
			pen.beginPath();
			pen.arc(x, y, 7, 0, 2 * Math.PI);
			pen.stroke();
			taken.push({ left: x - 7, right: x + 7, top: y - 7,
				bottom: y + 7 });
		});
		spec.marks.forEach(function (m, i) {
			/* What says the same at the same place says it once. */
			if (spec.marks.slice(0, i).some(function (o) {
				return o.text === m.text && o.x === m.x &&
					Math.abs(chart.scales.y.getPixelForValue(o.y) -
						chart.scales.y.getPixelForValue(m.y)) < 12;
			})) {
				m.box = null;
				return;
			}
			m.box = place(chart, taken, lines,
				chart.scales.x.getPixelForValue(m.x),
				chart.scales.y.getPixelForValue(m.y),
				pen.measureText(m.text).width);
			if (m.box)
				label(pen, m.text, m.box, color(m.color));
		});
	}
	/* Upright lines, with the text beside them where there is room. */
	function events(chart, spec) {
		var pen = chart.ctx, area = chart.chartArea, taken = [];
		pen.font = "11px " + Chart.defaults.font.family;
		(spec.events || []).forEach(function (e) {
			var x = chart.scales.x.getPixelForValue(e.at);
			var what = e.text.length > 48 ?
				e.text.slice(0, 46) + "\u2026" : e.text;
			var width = pen.measureText(what).width, box, i;
			if (x < area.left || x > area.right)
				return;
			pen.strokeStyle = e.color === undefined ? style("--bad") :
				color(e.color);
			pen.lineWidth = 1.3;
			pen.setLineDash([4, 3]);
			pen.beginPath();
			pen.moveTo(x, area.top);
			pen.lineTo(x, area.bottom);
			pen.stroke();
			pen.setLineDash([]);
			for (i = 0; i < 6; i++) {
				box = { left: x + 4 + width > area.right ?
					Math.max(area.left, x - width - 4) : x + 4,
					top: area.top + 2 + 16 * i };
				box.right = box.left + width;
				box.bottom = box.top + 14;
				if (!taken.some(overlaps.bind(null, box)))
					break;
			}
			taken.push(box);
			label(pen, what, box, style("--ink"));
		});
	}

	/* --- datasets --- */

	function lineSets(spec) {
		return spec.series.map(function (s) {
			return {
				label: s.name, color: s.color, unnamed: s.unnamed,
				data: s.data.map(function (p) {
					return { x: p[0], y: p[1] };
				}),
				borderDash: dash(s.color),
				borderWidth: s.thin ? 1.4 : 2,
				pointStyle: shape(s.color),
				pointRadius: spec.marks ? 3 : 0, pointHitRadius: 8
			};
		});
	}
	function barSets(spec) {
		return spec.series.map(function (s) {
			return {
				label: s.name, color: s.color, pale: s.pale,
				data: s.data.map(function (v) { return v && v[0]; }),
				borderWidth: 1, skipNull: true, minBarLength: 1,
				categoryPercentage: 0.82, barPercentage: 0.95
			};
		});
	}
	/* Bars that are not seen give the ranges their places. */
	function rangeSets(spec) {
		return spec.series.map(function (s) {
			return {
				label: s.name, color: s.color, ghost: true,
				data: s.data.map(function (v) { return v && v[0]; }),
				categoryPercentage: 0.8, barPercentage: 1
			};
		});
	}
	var KINDS = {
		lines: { type: "line", sets: lineSets, below: bands,
			above: [marks, events] },
		bars: { type: "bar", sets: barSets, above: [barWhiskers] },
		ranges: { type: "bar", sets: rangeSets, above: [ranges] }
	};

	/* --- scales --- */

	function scale(axis, more) {
		return Object.assign({
			title: { display: !!axis.title, text: axis.title },
			type: axis.log ? "logarithmic" : "linear",
			beginAtZero: !axis.log,
			ticks: Object.assign({ callback: tick(axis), maxRotation: 0 },
				axis.whole ? { precision: 0 } : {}), grid: {}
		}, axis.max ? { suggestedMax: axis.max } : {},
		axis.unit === "percentile" ? { min: Math.SQRT2 } : {}, more || {});
	}
	/* Of a log axis: its own choice may begin a power of ten too low, and the
	 * ends of ranges are no values that it knows. */
	function span(spec) {
		var all = [];
		spec.series.forEach(function (s) {
			s.data.forEach(function (v) {
				if (v)
					all = all.concat(spec.kind === "lines" ?
						v.slice(1) : v);
			});
		});
		all = all.filter(function (v) { return v > 0; });
		return all.length ? { min: Math.min.apply(null, all) * 0.8,
			max: Math.max.apply(null, all) * 1.25 } : {};
	}
	/* A long name is cut, not its chart's room. */
	function rowTick(spec, width) {
		var most = Math.max(10, Math.floor(width / 24));
		return function (v) {
			var name = spec.rows[v] || "";
			return name.length > most ?
				name.slice(0, most - 1) + "\u2026" : name;
		};
	}
	function scales(spec, width) {
		if (spec.kind === "lines")
			return { x: scale(spec.x), y: scale(spec.y,
				spec.y.log ? span(spec) : { grace: "4%" }) };
		return {
			x: scale(spec.x, spec.kind === "ranges" ? span(spec) : {}),
			y: { title: { display: false }, grid: { display: false },
				ticks: { autoSkip: false,
					callback: rowTick(spec, width) } }
		};
	}

	/* --- charts --- */

	function ink(chart) {
		var o = chart.options, words = style("--ink"), line = style("--line");
		o.plugins.legend.labels.color = words;
		Object.keys(o.scales).forEach(function (k) {
			o.scales[k].title.color = style("--faint");
			o.scales[k].ticks.color = words;
			o.scales[k].grid.color = line;
			o.scales[k].grid.borderColor = style("--faint");
		});
		chart.data.datasets.forEach(function (d) {
			d.borderColor = d.ghost ? "transparent" : color(d.color);
			d.backgroundColor = d.ghost ? "transparent" :
				chart.config.type === "bar" ? fill(d.color, d.pale) :
				color(d.color);
		});
	}
	function tips(spec) {
		var value = spec.kind === "lines" ? spec.y : spec.x;
		return {
			title: function (items) {
				return spec.kind === "lines" && items.length ?
					text(spec.x, items[0].parsed.x) : undefined;
			},
			label: function (c) {
				var v = spec.series[c.datasetIndex].data[c.dataIndex];
				var own = spec.kind === "lines" ? v.slice(1) : v;
				var what = c.dataset.label + ": " + text(value, own[0]);
				if (own.length === 3)
					what += " (" + text(value, own[1]) + " to " +
						text(value, own[2]) + ")";
				return what;
			}
		};
	}
	/* What a legend shows of a line is the line. */
	function legend(spec, kind) {
		return {
			display: spec.series.length > 1 && spec.series.length < 25,
			labels: {
				usePointStyle: true, boxWidth: 24,
				filter: function (item, data) {
					return !data.datasets[item.datasetIndex].unnamed;
				},
				generateLabels: function (chart) {
					return Chart.defaults.plugins.legend.labels
						.generateLabels(chart)
						.map(function (item) {
							var d = chart.data
								.datasets[item.datasetIndex];
							item.pointStyle = kind.type === "bar" &&
								!d.ghost ? "rect" : "line";
							if (d.ghost)
								item.strokeStyle = color(d.color);
							item.lineWidth = 2;
							item.lineDash = kind.type === "bar" &&
								!d.ghost ? [] : dash(d.color);
							return item;
						});
				}
			}
		};
	}
	function draw(spec, i) {
		var canvas = document.getElementById("c" + i);
		var kind = KINDS[spec.kind], chart;
		var width = canvas.parentNode.clientWidth;

		chart = new Chart(canvas, {
			type: kind.type,
			data: { labels: spec.rows, datasets: kind.sets(spec) },
			options: {
				animation: false, responsive: true,
				maintainAspectRatio: false, normalized: true,
				indexAxis: kind.type === "bar" ? "y" : "x",
				scales: scales(spec, width),
				interaction: { mode: "nearest", intersect: false },
				plugins: {
					legend: legend(spec, kind),
					tooltip: { callbacks: tips(spec) }
				}
			},
			plugins: [{
				id: "more",
				beforeDatasetsDraw: function (c) {
					if (!kind.below)
						return;
					c.ctx.save();
					kind.below(c, spec);
					c.ctx.restore();
				},
				afterDatasetsDraw: function (c) {
					c.ctx.save();
					kind.above.forEach(function (f) { f(c, spec); });
					c.ctx.restore();
				}
			}]
		});
		ink(chart);
		chart.update();
		charts.push(chart);
		canvas.dataset.drawn = "true";
	}
	function recolor() {
		charts.forEach(function (c) { ink(c); c.update(); });
	}

	Chart.defaults.font.family = "system-ui, \"Segoe UI\", " +
		"\"Helvetica Neue\", Arial, sans-serif";
	specs.forEach(draw);
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", recolor);

	/* --- on paper all is open but what says the same again; ink on white --- */

	var opened = [];
	addEventListener("beforeprint", function () {
		opened = Array.from(document.querySelectorAll(
			"details:not([open]):not(.same)"));
		opened.forEach(function (d) { d.open = true; });
		document.documentElement.classList.add("print");
		charts.forEach(function (c) { c.resize(); });
		recolor();
	});
	addEventListener("afterprint", function () {
		opened.forEach(function (d) { d.open = false; });
		document.documentElement.classList.remove("print");
		charts.forEach(function (c) { c.resize(); });
		recolor();
	});
})();
