import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'

const OVERLAPS = [
  { value: '0', label: 'No time' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
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
      fetchData(
        call('POST /internal/keys/:key_id/rotate', {
          params: { key_id: keyId },
          body: { overlap_seconds: Number(overlap) },
        }),
      ),
    onSuccess: ({ key }) => onMade(key),
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Rotate key ...${last4}`}
      description="Creates a new key with the same access."
      submit={{ label: 'Rotate', onSubmit: () => rotate.mutate(), busy: rotate.isPending }}
      error={rotate.error}
    >
      <Combobox label="Keep the old key valid for" value={overlap} choices={OVERLAPS} onChange={setOverlap} />
    </Dialog>
  )
}
