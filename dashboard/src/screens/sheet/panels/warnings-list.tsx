import type { PanelWarning } from './panel-warnings.ts'

/** The list of what keeps an action from running well. */
export function Warnings({ warnings }: { warnings: readonly PanelWarning[] }) {
  if (warnings.length === 0) return null
  return (
    <ul
      aria-label="Warnings"
      className="flex flex-col gap-1 rounded-md bg-out-of-credits-bg px-3 py-2 text-out-of-credits"
    >
      {warnings.map(({ field, text }) => (
        <li key={`${field} ${text}`} className="break-words">
          {text}
        </li>
      ))}
    </ul>
  )
}
