interface SparklineProps {
  readonly values: readonly number[];
  /** The top of the chart. Without it, the largest value. */
  readonly most?: number;
  readonly label: string;
  readonly slots?: number;
}

const [width, height] = [96, 20];

/** Points of a line, from the left, newest at the right edge. */
export function toSparklinePoints(values: readonly number[], most: number, slots: number): string {
  const step = width / (slots - 1);
  const start = width - (values.length - 1) * step;
  return values
    .map((value, index) => {
      const y = height - 1 - Math.min(1, most > 0 ? value / most : 0) * (height - 2);
      return `${(start + index * step).toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
}

export function Sparkline({ values, most = Math.max(1, ...values), label, slots = 60 }: SparklineProps) {
  const shown = values.slice(-slots);
  const points = toSparklinePoints(shown, most, slots);
  const [first = ''] = points.split(',');
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {shown.length > 1 && (
        <>
          <polygon points={`${first},${height} ${points} ${width},${height}`} />
          <polyline points={points} />
        </>
      )}
    </svg>
  );
}
