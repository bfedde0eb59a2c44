import { useCauses } from '../../../api/causes.ts'
import { Button } from '../../../ui/button.tsx'
import { X } from '../../../ui/icons.tsx'
import { useSheet } from '../sheet-view.ts'
import { buildSelection, describeTerm, readTerms } from './filter-terms.ts'

/** The active filters as buttons. Each button removes its filter. */
export function ActiveFilters() {
  const { address, columns } = useSheet()
  const { selection } = address
  const terms = readTerms(selection, columns)
  if (terms.length === 0 && selection.cause === '' && selection.created_at === null) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5 border-b px-3 py-1.5">
      {terms.map((term, place) => {
        const text = describeTerm(term, columns)
        return (
          <Filter
            key={text}
            text={text}
            onRemove={() => address.select(buildSelection(terms.toSpliced(place, 1), selection))}
          />
        )
      })}
      {selection.created_at !== null && (
        <Filter
          text={`Created ${selection.created_at.operator} ${selection.created_at.values.join(', ')}`}
          onRemove={() => address.select({ ...selection, created_at: null })}
        />
      )}
      {selection.cause !== '' && <CauseFilter cause={selection.cause} />}
    </div>
  )
}

function Filter({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <Button size="small" aria-label={`Remove filter ${text}`} onClick={onRemove}>
      <span className="max-w-[280px] truncate">{text}</span>
      <X aria-hidden className="size-3" />
    </Button>
  )
}

/** The filter by a cause of failures, in words. */
function CauseFilter({ cause }: { cause: string }) {
  const { address, sheet } = useSheet()
  const causes = useCauses(sheet)
  const words = causes.data?.causes.find((one) => one.cause === cause)?.words ?? 'one cause of failures'
  return (
    <Filter text={`Failed: ${words}`} onRemove={() => address.select({ ...address.selection, cause: '' })} />
  )
}
