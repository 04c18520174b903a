// power: a power as the paper writes it: 2¹⁶. `of` reads it back for copies as plain text: 2^16.

const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";

mallard.power = (base, exponent) => `${base}${[...String(exponent)].map((digit) => raised[digit]).join("")}`;
mallard.power_of = (text) => text.replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (digits) => `^${[...digits].map((digit) => raised.indexOf(digit)).join("")}`);
