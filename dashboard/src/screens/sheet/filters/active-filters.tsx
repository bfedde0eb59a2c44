import { Button } from '../../../ui/button.tsx'
import { X } from '../../../ui/icons.tsx'
import { useSheet } from '../sheet-view.ts'
import { describeTerm, selectionOf, termsOf } from './filter-terms.ts'

/** Each is a button that takes it away. */
export function ActiveFilters() {
  const { address, columns } = useSheet()
  const terms = termsOf(address.selection, columns)
  if (terms.length === 0) return null
  return (
    <div className="flex flex-wrap items-center gap-1.5 border-b px-3 py-1.5">
      {terms.map((term, place) => {
        const words = describeTerm(term, columns)
        return (
          <Button
            key={words}
            size="small"
            aria-label={`Remove filter ${words}`}
            onClick={() =>
              address.select(selectionOf(terms.toSpliced(place, 1), columns, address.selection.find))
            }
          >
            <span className="max-w-[280px] truncate">{words}</span>
            <X aria-hidden className="size-3" />
          </Button>
        )
      })}
    </div>
  )
}
