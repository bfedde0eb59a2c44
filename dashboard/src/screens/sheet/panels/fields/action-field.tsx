import type { ReactNode } from 'react'
import type { FieldKind } from '#contract/actions.ts'
import { fetchTemplateOptions } from '../../../../api/sheet.ts'
import { useSheet } from '../../sheet-view.ts'
import { WaterfallField } from '../waterfall-field.tsx'
import { AnswerFields } from './answer-fields.tsx'
import { ChoiceField } from './choice-field.tsx'
import { ConditionsField } from './conditions-field.tsx'
import { ConnectionField } from './connection-field.tsx'
import { DateField } from './date-field.tsx'
import { FileField } from './file-field.tsx'
import { JsonField, PayloadField } from './json-field.tsx'
import { ListField } from './list-field.tsx'
import { PairsField } from './pairs-field.tsx'
import { type FieldProps, usePanel } from './panel-context.ts'
import { readField } from './read-field.ts'
import { ChoicesField, ColumnsField } from './several-field.tsx'
import { SwitchField } from './switch-field.tsx'
import { TextInput } from './text-field.tsx'

/** The control of one input for its kind. A value that the control cannot show is shown as JSON. */
export function ActionField(props: FieldProps) {
  const { sheet } = useSheet()
  const { node, template } = usePanel()
  const { kind, name } = props.field
  const shown = readField(kind, props.value, { node, declared: template.outputs.map(({ name }) => name) })
  switch (shown.as) {
    case 'text':
      return <OneText {...props} text={shown.text} />
    case 'flag':
      return <SwitchField {...props} checked={shown.checked} />
    case 'texts': {
      const Several = kind === 'list' ? ListField : kind === 'columns' ? ColumnsField : ChoicesField
      return <Several {...props} texts={shown.texts} />
    }
    case 'pairs':
      return <PairsField {...props} pairs={shown.pairs} />
    case 'conditions':
      return <ConditionsField {...props} groups={shown.groups} />
    case 'answer':
      return <AnswerFields {...props} shape={shown.shape} />
    case 'steps':
      return (
        <WaterfallField
          action={node?.action_instance_id ?? null}
          template={template.action_id}
          field={props.field}
          value={Array.isArray(props.value) ? shown.steps : undefined}
          onChange={(steps) => props.onChange(steps ?? null)}
          loadOffers={async () =>
            (await fetchTemplateOptions(sheet, { template: template.action_id, field: name, context: {} }))
              .options
          }
        />
      )
    case 'json':
      // Pairs have a switch between rows and JSON of their own.
      return kind === 'pairs' ? <PairsField {...props} pairs={null} /> : <JsonField {...props} />
  }
}

const CONTROLS: Partial<Record<FieldKind, (props: FieldProps & { text: string }) => ReactNode>> = {
  model: ChoiceField,
  choice: ChoiceField,
  sheet: ChoiceField,
  connection: ConnectionField,
  date: DateField,
  file: FileField,
  json: PayloadField,
}

/** The control of an input whose value is one text. */
function OneText(props: FieldProps & { text: string }) {
  const Control = CONTROLS[props.field.kind] ?? TextInput
  return <Control {...props} />
}
