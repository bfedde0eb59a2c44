import { Button } from '../../../ui/button.tsx'
import { X } from '../../../ui/icons.tsx'
import { useSheet } from '../sheet-view.ts'
import { describeTerm, buildSelection, readTerms } from './filter-terms.ts'

/** The active filters as buttons. Each button removes its filter. */
export function ActiveFilters() {
  const { address, columns } = useSheet()
  const terms = readTerms(address.selection, columns)
  if (terms.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5 border-b px-3 py-1.5">
      {terms.map((term, place) => {
        const text = describeTerm(term, columns)
        return (
          <Button
            key={text}
            size="small"
            aria-label={`Remove filter ${text}`}
            onClick={() =>
              address.select(buildSelection(terms.toSpliced(place, 1), columns, address.selection.find))
            }
          >
            <span className="max-w-[280px] truncate">{text}</span>
            <X aria-hidden className="size-3" />
          </Button>
        )
      })}
    </div>
  )
}
