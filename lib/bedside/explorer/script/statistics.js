// Statistics: those of bedside.stats, without a resample. `unit` is what repeats: a question, a case, a patient.

const LEAST = 10;                         // units that an interval needs
const total = numbers => numbers.reduce((sum, x) => sum + x, 0);
const entry = (map, key, fresh) => map.get(key) ?? map.set(key, fresh()).get(key);

const quantiles = new Map();
function t(df) {                            // its 97.5% quantile: the angle atan(t / sqrt(df)) has the density cos^(df - 1)
  return entry(quantiles, df, () => {
    const steps = 20000, step = Math.PI / 2 / steps;
    const density = Array.from({length: steps}, (_, i) => Math.cos((i + 0.5) * step) ** (df - 1));
    let left = 0.95 * total(density), i = 0;
    while (left > density[i]) left -= density[i++];
    return Math.sqrt(df) * Math.tan((i + left / density[i]) * step);
  });
}

function limits(p, n, z) {                  // of a share p of n, which need not be whole
  const centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const half = Math.sqrt(z * z * p * (1 - p) / n + (z * z / (2 * n)) ** 2) / (1 + z * z / n);
  return [centre - half, p === 1 ? 1 : centre + half];
}

/* Share of hits, [[hit, unit], ...]: value, its 95% limits (NaN for fewer than LEAST units), counts of hits, rows, units. */
function share(hits) {
  const sums = new Map(), n = hits.length;
  for (const [hit, unit] of hits) {
    const sum = entry(sums, unit, () => [0, 0]);
    sum[0] += hit;
    sum[1]++;
  }
  const units = sums.size, k = total([...sums.values()].map(s => s[0])), p = k / n, found = {value: p, k, n, units};
  if (units < LEAST) return {...found, low: NaN, high: NaN};
  const all = [...sums.values()], even = n * n / total(all.map(([, size]) => size * size));
  const spread = total(all.map(([hit, size]) => (hit - p * size) ** 2)) * units / (units - 1) / n;
  const effect = k && k < n ? (units === n ? 1 : Math.max(1, spread / (p * (1 - p)))) : n / units;
  [found.low, found.high] = limits(p, n / effect, t(Math.max(1, even - 1)));
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
