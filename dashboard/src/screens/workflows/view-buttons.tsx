import type { Workflow } from '../../api/workflows.ts'
import { classNames } from '../../ui/class-names.ts'
import { figure } from '../../ui/figure.ts'
import { isInView, type View, VIEWS } from './shown-workflows.ts'

type Props = { workflows: readonly Workflow[]; view: View; onView: (view: View) => void }

/** The buttons that choose a view of the list. Each shows how many workflows its view has. */
export function ViewButtons({ workflows, view, onView }: Props) {
  const now = Date.now()
  return (
    <div role="group" aria-label="Show" className="flex flex-wrap gap-1">
      {VIEWS.map((name) => {
        const count = workflows.filter((workflow) => isInView(workflow, name, now)).length
        return (
          <button
            key={name}
            type="button"
            aria-pressed={view === name}
            onClick={() => onView(name)}
            className={classNames(
              'flex h-8 items-center gap-1.5 rounded-md px-2.5 font-medium',
              view === name ? 'bg-selected text-accent-text' : 'text-muted hover:bg-hover',
            )}
          >
            {name}
            <span className={classNames(name === 'Failed' && count > 0 ? 'text-failed' : 'text-muted')}>
              {figure(count)}
            </span>
          </button>
        )
      })}
    </div>
  )
}
