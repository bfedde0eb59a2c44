import { Button } from '../../../../ui/button.tsx'
import { Braces } from '../../../../ui/icons.tsx'

/** The button that opens the list of columns for a text field. */
export function InsertButton({
  label,
  isOpen,
  onOpen,
}: {
  label: string
  isOpen: boolean
  onOpen: () => void
}) {
  return (
    <Button
      kind="ghost"
      size="small"
      icon={Braces}
      iconOnly
      aria-expanded={isOpen}
      // The caret stays in the text, where the column is to go.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onOpen}
    >
      {`Insert column into ${label}`}
    </Button>
  )
}
