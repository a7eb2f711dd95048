"use strict";
/* Draws the charts of a report from the data in the page. All texts reach the
 * page through Chart.js's canvas: nothing here makes HTML of them. */
(function () {
	var data = JSON.parse(document.getElementById("data").textContent);
	var palette = ["#3b7dd8", "#e07b39", "#3a9b5c", "#b04fb8", "#c9a227",
		"#d1495b", "#2a9d9d", "#7a6ff0", "#8c6d46", "#7f8c8d"];
	var charts = [];

	function color(i) { return palette[i % palette.length]; }
	function style(name) {
		return getComputedStyle(document.documentElement)
			.getPropertyValue(name).trim();
	}
	function axis(title, more) {
		return Object.assign({
			title: { display: true, text: title },
			ticks: {}, grid: {}
		}, more || {});
	}
	/* 1 ms from 1000000 ns, for axes and tips */
	function time(ns) {
		var units = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
		for (var i = 0; i < units.length; i++)
			if (ns >= units[i][1] || units[i][1] === 1)
				return Number((ns / units[i][1]).toPrecision(3)) +
					" " + units[i][0];
		return "0";
	}
	/* Log axes label powers of ten, and 2 and 5 between them. */
	function logTick(format) {
		return function (v) {
			var first = Number(Number(v).toExponential()[0]);
			return first === 1 || first === 2 || first === 5 ?
				format(v) : null;
		};
	}
	/* x is 1 / (1 - percentile): 10 is the 90th. */
	function percentile(x) {
		return x <= 1 ? "0 %" :
			Number((100 - 100 / x).toPrecision(7)) + " %";
	}
	function ink(chart) {
		var o = chart.options, text = style("--ink"), line = style("--line");
		o.plugins.legend.labels.color = text;
		Object.keys(o.scales).forEach(function (k) {
			o.scales[k].title.color = text;
			o.scales[k].ticks.color = text;
			o.scales[k].grid.color = line;
			o.scales[k].grid.borderColor = line;
		});
	}
	function draw(id, type, datasets, scales, options, labels) {
		var canvas = document.getElementById(id), chart;
		if (!canvas)
			return;
		chart = new Chart(canvas, {
			type: type,
			data: { labels: labels, datasets: datasets },
			options: Object.assign({
				animation: false, responsive: true,
				maintainAspectRatio: false, normalized: true,
				scales: scales,
				plugins: {
					legend: { display: datasets.length < 25,
						labels: { boxWidth: 12 } },
					tooltip: { callbacks: options.tips || {} }
				}
			}, options.chart || {})
		});
		ink(chart);
		chart.update();
		charts.push(chart);
		canvas.dataset.drawn = "true";
	}
	function recolor() {
		charts.forEach(function (c) { ink(c); c.update(); });
	}
	/* A bar group a row, a color for each op and field. */
	function bars(id, fields, title, log) {
		var rows = [], place = new Map(), sets = [];
		data.points.forEach(function (p) {
			if (!place.has(p.row))
				place.set(p.row, rows.push(p.row) - 1);
		});
		["read", "write", "trim", "flush"].forEach(function (op) {
			fields.forEach(function (f) {
				var values = rows.map(function () { return null; });
				data.points.forEach(function (p) {
					if (p.op === op)
						values[place.get(p.row)] = p[f[0]];
				});
				if (values.some(function (v) { return v !== null; }))
					sets.push({
						label: op + (f[1] ? " " + f[1] : ""),
						backgroundColor: color(sets.length),
						skipNull: true, data: values
					});
			});
		});
		draw(id, "bar", sets, {
			x: axis(title, log ? {
				type: "logarithmic",
				ticks: { callback: logTick(time) }
			} : { beginAtZero: true }),
			y: axis("", { ticks: { autoSkip: false } })
		}, {
			chart: { indexAxis: "y" },
			tips: log ? { label: function (c) {
				return c.dataset.label + ": " + time(c.raw);
			} } : {}
		}, rows);
	}
	function lines(list, of) {
		return list.map(function (l, i) {
			return Object.assign({
				label: l.label, data: of(l), borderColor: color(i),
				backgroundColor: color(i), borderWidth: 2,
				pointRadius: 0, pointHitRadius: 6
			}, l.look || {});
		});
	}
	function curves() {
		var with_curve = data.points.filter(function (p) {
			return p.curve.length > 0;
		});
		draw("percentiles", "line", lines(with_curve, function (p) {
			return p.curve.map(function (c) {
				return { x: c[0], y: c[1] };
			});
		}), {
			x: axis("percentile", {
				type: "logarithmic", min: Math.SQRT2, ticks: {
					callback: function (v) {
						return Number.isInteger(Math.log10(v)) ||
							v === 2 ? percentile(v) : null;
					}
				}
			}),
			y: axis("latency", {
				type: "logarithmic", ticks: { callback: logTick(time) }
			})
		}, { tips: {
			title: function (c) { return percentile(c[0].parsed.x); },
			label: function (c) {
				return c.dataset.label + ": " + time(c.parsed.y);
			}
		} });
	}
	function series() {
		var list = data.series.map(function (s) {
			return {
				label: s.label,
				points: s.mb_s.map(function (v, i) {
					return { x: (s.start_s || 0) + (i + 0.5) * s.interval_s,
						y: v };
				})
			};
		});
		data.events.forEach(function (e) {
			list.push({
				label: e.text, points: [{ x: e.at_s, y: 0 }],
				look: { showLine: false, pointRadius: 7,
					pointStyle: "triangle" }
			});
		});
		draw("series", "line", lines(list, function (l) {
			return l.points;
		}), {
			x: axis("seconds since the run's start", { type: "linear" }),
			y: axis("MB/s", { beginAtZero: true })
		}, {});
	}
	function sweep(id, field, title, format) {
		draw(id, "line", lines(data.sweeps, function (s) {
			return s.steps.map(function (t) {
				return { x: t.clients, y: t[field] };
			});
		}).map(function (d) {
			d.pointRadius = 3;
			return d;
		}), {
			x: axis("clients", { type: "linear", min: 0 }),
			y: axis(title, { beginAtZero: true, ticks: format ?
				{ callback: format } : {} })
		}, format ? { tips: { label: function (c) {
			return c.dataset.label + ": " + format(c.parsed.y);
		} } } : {});
	}

	Chart.defaults.font.family = "system-ui, sans-serif";
	if (data.sweeps.length) {
		sweep("sweep_rate", "mb_s", "MB/s");
		sweep("sweep_time", "mean_ns", "mean response time", time);
	}
	bars("rates", [["mb_s", ""]], "MB/s");
	bars("latencies", [["mean_ns", "mean"], ["p99_ns", "p99"]],
		"latency", true);
	curves();
	series();
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", recolor);
	var opened = [];
	addEventListener("beforeprint", function () {
		opened = Array.from(document.querySelectorAll(
			"details:not([open])"));
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
