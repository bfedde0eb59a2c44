/** A loading placeholder. It appears after 200 ms, so that fast content does not flicker. */
export function Skeleton({ lines = 6, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex w-full animate-appear flex-col gap-2">
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="h-7 rounded bg-hover" />
      ))}
    </div>
  )
}
