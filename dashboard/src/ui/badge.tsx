import { classNames } from './class-names.ts'

const TONES = {
  good: 'bg-complete-bg text-complete',
  busy: 'bg-running-bg text-running',
  quiet: 'bg-queued-bg text-queued',
  warning: 'bg-out-of-credits-bg text-out-of-credits',
  bad: 'bg-failed-bg text-failed',
} as const

export type Tone = keyof typeof TONES

/** A state as a word. The colour only repeats it. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span
      className={classNames(
        'inline-block rounded px-1.5 py-0.5 text-12 font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  )
}
