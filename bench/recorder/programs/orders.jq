# What a user asks of an export: by customer the sum and the different articles, the best customers first.
[group_by(.customer)[]
  | {customer: .[0].customer,
     orders: length,
     total: (map(.lines[] | .count * .price) | add),
     articles: ([.[].lines[].article] | unique | length),
     last: (map(.placed) | max)}]
| sort_by(-.total)
