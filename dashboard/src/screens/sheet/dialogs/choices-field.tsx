import { TextArea } from '../../../ui/text-field.tsx'

/** The field for the choices of an input of type select, one per line. */
export function ChoicesField({
  value,
  onChange,
  problem,
}: {
  value: string
  onChange: (text: string) => void
  problem: string | undefined
}) {
  return (
    <TextArea
      label="Choices"
      rows={6}
      value={value}
      onChange={onChange}
      problem={problem}
      hint="One per line. Values that are no choice stay as they are, and are marked."
    />
  )
}
