import type { ListedRecord } from '#contract/screens.ts'
import { Button } from '../../ui/button.tsx'
import { X } from '../../ui/icons.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { valueText } from '../../ui/value-text.ts'
import { getRecordName } from './record-name.ts'

const show = (section: HTMLElement | null) => section?.focus()

/** The fields of a record: each value with its source and time. */
export function RecordFields({ record, onClose }: { record: ListedRecord; onClose: () => void }) {
  const fields = Object.entries(record.fields).map(([name, field]) => ({ name, ...field }))
  return (
    <section
      // Focused when it opens, because it is above the list and may be out of view.
      ref={show}
      tabIndex={-1}
      aria-label={`Record ${getRecordName(record)}`}
      className="flex flex-col gap-2 rounded-lg border p-4"
    >
      <div className="flex items-center gap-2">
        <h2 className="mr-auto text-14 font-semibold break-all">{getRecordName(record)}</h2>
        <Button kind="ghost" icon={X} iconOnly onClick={onClose}>
          Close
        </Button>
      </div>
      <Table
        label="Fields"
        items={fields}
        getKey={({ name }) => name}
        columns={[
          { name: 'Field', cell: ({ name }) => name },
          { name: 'Value', cell: ({ value }) => <span className="break-words">{valueText(value)}</span> },
          { name: 'Source', cell: ({ source }) => source },
          { name: 'When', wideOnly: true, cell: ({ at }) => <TimeText at={at === '' ? null : at} /> },
        ]}
      />
    </section>
  )
}
