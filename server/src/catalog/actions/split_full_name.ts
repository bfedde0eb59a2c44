import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'
import { splitFullName } from '../values/full-name.ts'

export default defineAction({
  id: 'split_full_name',
  name: 'Split full name',
  description: "Splits a person's name into its parts; those that are not there are empty.",
  category: 'data',
  synonyms: ['first name', 'last name', 'parse name', 'surname', 'extract'],
  credits: 0,
  pure: true,
  inputs: {
    value: field.text({
      required: true,
      label: 'Full name',
      help: 'A name in any usual form.',
      placeholder: 'Dr. Ludwig van Beethoven',
      details: 'Such as "Dr. Ludwig van Beethoven" or "Beethoven, Ludwig van".',
    }),
  },
  outputs: {
    first: output.text('The first given name.'),
    last: output.text('The family name with its particles: van Beethoven.'),
    middle: output.text('The names between first and last name.'),
    prefix: output.text('Titles in front: Dr.'),
    suffix: output.text('The suffix of the name: Jr., PhD.'),
  },
  run: ({ inputs }) => done(splitFullName(inputs.value)),
})
