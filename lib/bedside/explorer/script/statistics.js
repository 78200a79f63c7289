// Statistics: those of bedside.stats, without a resample. `unit` is what repeats: a question, a case, a patient.

const Z = 1.959963984540054;
const total = numbers => numbers.reduce((sum, x) => sum + x, 0);
const entry = (map, key, fresh) => map.get(key) ?? map.set(key, fresh()).get(key);

/* How much of Student's t with `df` degrees of freedom lies within an angle, atan(t / sqrt(df)) to either side: a finite
   sum where df is whole (Abramowitz and Stegun, 26.7.3 and 26.7.4). */
function within(angle, df) {
  const odd = df % 2;
  let sum = 0, term = odd ? Math.cos(angle) : 1;
  for (let e = odd; e <= df - 2; e += 2) {
    if (e > odd) term *= Math.cos(angle) ** 2 * (e - 1) / e;
    sum += term;
  }
  return odd ? 2 / Math.PI * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

const quantiles = new Map();
function t(df) {                            // its 97.5% quantile
  return entry(quantiles, df, () => {
    let low = 0, high = Math.PI / 2;
    for (let i = 0; i < 52; i++) {
      const middle = (low + high) / 2;
      if (within(middle, df) < 0.95) low = middle; else high = middle;
    }
    return Math.sqrt(df) * Math.tan(low);
  });
}

function limits(p, n, z) {                  // of a share p of n, which need not be whole
  const centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const half = Math.sqrt(z * z * p * (1 - p) / n + (z * z / (2 * n)) ** 2) / (1 + z * z / n);
  return [centre - half, p === 1 ? 1 : centre + half];
}

/* Share of hits, [[hit, unit], ...]: value, its 95% limits (NaN for a single unit that repeats), counts of hits, rows, units. */
function share(hits) {
  const sums = new Map(), n = hits.length;
  for (const [hit, unit] of hits) {
    const sum = entry(sums, unit, () => [0, 0]);
    sum[0] += hit;
    sum[1]++;
  }
  const units = sums.size, k = total([...sums.values()].map(s => s[0])), p = k / n, found = {value: p, k, n, units};
  if (!n || (units === 1 && n > 1)) return {...found, low: NaN, high: NaN};
  if (units === n) [found.low, found.high] = limits(p, n, Z);
  else {
    const spread = total([...sums.values()].map(([hit, size]) => (hit - p * size) ** 2)) * units / (units - 1) / n;
    const effect = k && k < n ? Math.max(1, spread / (p * (1 - p))) : n / units;
    [found.low, found.high] = limits(p, n / effect, t(units - 1));
  }
  return found;
}

/* Exact two-sided p of whole differences, [[difference, unit], ...], by all the ways to flip the signs of units: McNemar's
   where no unit has two that differ. */
function flips(differences) {
  const sums = new Map();
  for (const [difference, unit] of differences) sums.set(unit, (sums.get(unit) ?? 0) + difference);
  const sizes = [...sums.values()].map(Math.abs).filter(Boolean), most = total(sizes);
  const reached = Math.abs(total([...sums.values()])), chance = new Float64Array(most + 1);      // of each sum of those kept
  chance[0] = 1;
  let end = 0;
  for (const size of sizes) {
    end += size;
    for (let i = end; i >= 0; i--) chance[i] = (chance[i] + (i < size ? 0 : chance[i - size])) / 2;
  }
  return Math.min(1, total([...chance].filter((_, i) => Math.abs(2 * i - most) >= reached)));
}
