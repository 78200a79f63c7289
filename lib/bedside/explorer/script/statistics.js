// Statistics

function wilson(k, n) {
  const z2 = 1.959963984540054 ** 2, p = k / n, centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = Math.sqrt(z2 * p * (1 - p) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n);
  return [centre - half, k === n ? 1 : centre + half];
}

function mcnemar(b, c) {                    // exact, two-sided; the binomial tail in logarithms, from its largest term down
  const n = b + c, k = Math.min(b, c);
  let first = -n * Math.LN2, tail = 1, term = 1;
  for (let j = 1; j <= k; j++) first += Math.log((n - k + j) / j);
  for (let i = k; i > 0; i--) tail += term *= i / (n - i + 1);
  return n ? Math.min(1, 2 * Math.exp(first) * tail) : 1;
}

function share(k, n) {
  if (!n) return "none scored";
  const [low, high] = wilson(k, n).map(x => (100 * x).toFixed(1));
  return `${number(k)} of ${number(n)} scored: ${(100 * k / n).toFixed(1)}% [${low}, ${high}]`;
}
