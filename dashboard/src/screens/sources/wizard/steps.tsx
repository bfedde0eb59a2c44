import { classNames } from '../../../ui/class-names.ts'

export type Step = 'Pick' | 'Connect' | 'Preview' | 'Map' | 'Schedule' | 'Create'

/** The list of steps of the wizard. Earlier steps are buttons that lead back. */
export function Steps({
  steps,
  current,
  onGo,
}: {
  steps: readonly Step[]
  current: Step
  onGo?: (step: Step) => void
}) {
  const at = steps.indexOf(current)
  return (
    <ol aria-label="Steps" className="flex flex-wrap gap-x-4 gap-y-1 border-b pb-2">
      {steps.map((step, place) => (
        <li
          key={step}
          {...(step === current ? { 'aria-current': 'step' as const } : {})}
          className={classNames('flex items-center gap-1.5', step === current ? 'font-medium' : 'text-muted')}
        >
          <span
            aria-hidden
            className={classNames(
              'flex size-5 items-center justify-center rounded-full border text-11',
              place <= at && 'border-accent bg-accent text-white',
            )}
          >
            {place + 1}
          </span>
          {place < at && onGo !== undefined ? (
            <button
              type="button"
              className="rounded hover:text-text hover:underline"
              onClick={() => onGo(step)}
            >
              {step}
            </button>
          ) : (
            step
          )}
        </li>
      ))}
    </ol>
  )
}
