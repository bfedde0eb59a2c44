import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

it.each([
  ['Ann Lee', ['', 'Ann', '', 'Lee', '']],
  ['  Ann   Marie  Lee ', ['', 'Ann', 'Marie', 'Lee', '']],
  ['Ludwig van Beethoven', ['', 'Ludwig', '', 'van Beethoven', '']],
  ['Oscar de la Renta', ['', 'Oscar', '', 'de la Renta', '']],
  ['Ursula Gertrud von der Leyen', ['', 'Ursula', 'Gertrud', 'von der Leyen', '']],
  ['José Ortega y Gasset', ['', 'José', '', 'Ortega y Gasset', '']],
  ['Van Morrison', ['', 'Van', '', 'Morrison', '']],
  ['Dr. Ann Lee', ['Dr.', 'Ann', '', 'Lee', '']],
  ['Prof. Dr. Hans Müller', ['Prof. Dr.', 'Hans', '', 'Müller', '']],
  ['Dr. Smith', ['Dr.', '', '', 'Smith', '']],
  ['John Smith Jr.', ['', 'John', '', 'Smith', 'Jr.']],
  ['John Smith, Jr.', ['', 'John', '', 'Smith', 'Jr.']],
  ['John Q. Smith III, Ph.D., MBA', ['', 'John', 'Q.', 'Smith', 'III Ph.D. MBA']],
  ['Smith, John', ['', 'John', '', 'Smith', '']],
  ['van der Berg, Dr. Jan Piet', ['Dr.', 'Jan', 'Piet', 'van der Berg', '']],
  ['Smith Jr., John', ['', 'John', '', 'Smith', 'Jr.']],
  ['Madonna', ['', 'Madonna', '', '', '']],
  ['William "Bill" Gates', ['', 'William', '', 'Gates', '']],
  ['Ann Lee (she/her)', ['', 'Ann', '', 'Lee', '']],
  ["Conan O'Brien", ['', 'Conan', '', "O'Brien", '']],
  ['Jean-Luc Picard', ['', 'Jean-Luc', '', 'Picard', '']],
  ['Jack Ma', ['', 'Jack', '', 'Ma', '']],
  ['MR', ['', 'MR', '', '', '']],
  [',', ['', '', '', '', '']],
])('split_full_name of %j', async (value, [prefix, first, middle, last, suffix]) => {
  const outcome = await runAction('split_full_name', { value })
  expect(outcome).toEqual({ kind: 'done', outputs: { prefix, first, middle, last, suffix } })
})
