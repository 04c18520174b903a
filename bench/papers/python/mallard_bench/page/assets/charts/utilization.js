// utilization: benchmark III, a row for each T, A and S, percentages of AS1 as the paper prints them.

const power = (exponent) => mallard.power(2, exponent);
const { warm, faults, held } = mallard.measures.all;

mallard.charts.utilization = {
  title: "Benchmark III: utilization",
  help:
    "T bytes are allocated in blocks of S, of which A bytes are live at once. AS1 is in ns a block, the others in percent of it; " +
    "fail: memory ran out, where a heap gives nothing back. Blue is less than AS1, orange more.",

  missing: (data) => (mallard.runs.of(data, "utilization").own.length > 0 ? "" : "Nothing was measured."),

  draw(container, data, context) {
    mallard.comparison(container, data, context, {
      benchmark: "utilization",
      corner: ["T", "A", "S"],
      heads: ({ total, active, block }) => [total, active, block].map(power),
      measures: { warm: { ...warm, column: "ns" }, held, faults },
      percent: true,
      part: {
        label: "Total",
        options: (documents) => [...new Set(documents.map(({ group }) => String(group.total)))].sort((a, b) => a - b).map((total) => [total, `T = ${power(total)}`]),
        of: ({ total }) => String(total),
      },
    });
  },
};
