"""Results of `mallard bench` as one HTML page: what is static; assets/ is what scripts add."""
