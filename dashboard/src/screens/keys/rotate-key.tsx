import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/client.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'

const OVERLAPS = [
  { value: '0', label: 'Not at all' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
]

export function RotateKey({
  keyId,
  last4,
  onMade,
  onClose,
}: {
  keyId: string
  last4: string
  onMade: (secret: string) => void
  onClose: () => void
}) {
  const [overlap, setOverlap] = useState('86400')
  const rotate = useMutation({
    mutationFn: () =>
      post<{ key: string }>(`/internal/keys/${keyId}/rotate`, { overlap_seconds: Number(overlap) }),
    onSuccess: ({ key }) => onMade(key),
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Rotate key ...${last4}`}
      description="A new key that may do the same takes its place."
      submit={{ label: 'Rotate', onSubmit: () => rotate.mutate(), busy: rotate.isPending }}
      error={rotate.error}
    >
      <Combobox label="The old key works on" value={overlap} choices={OVERLAPS} onChange={setOverlap} />
    </Dialog>
  )
}
