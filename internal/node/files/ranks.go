package files

import (
	"strconv"

	"berth/internal/core/job"
	"berth/internal/node/collect"
)

// apart reports whether ranks of the task have files of their own. What is captured is captured together.
func (b *Bag) apart() bool {
	return b.Ranks > 1 && !b.Captured && (b.Spec.Bag.OfEachRank(b.template(collect.Stdout)) || b.Spec.Bag.OfEachRank(b.template(collect.Stderr)))
}

// bagOf returns the files of another rank, which are not open.
func (b *Bag) bagOf(rank int) *Bag {
	return &Bag{Site: b.Site, Spec: b.Spec, Entry: b.Entry, At: b.At, Others: b.Others, rank: rank}
}

// openRanks opens the files of the other ranks.
func (b *Bag) openRanks() error {
	for r := 1; r < b.Ranks && b.apart(); r++ {
		m := b.bagOf(r)
		if err := m.Open(); err != nil {
			return err
		}
		b.more = append(b.more, m)
	}
	return nil
}

// OfRank returns the file to which a rank prints a stream.
func (b *Bag) OfRank(rank int, s collect.Stream) *Output {
	if rank > 0 && rank <= len(b.more) && b.Spec.Bag.OfEachRank(b.template(s)) {
		return b.more[rank-1].Prints[s]
	}
	return b.Prints[s]
}

// TailOf returns the last lines that a rank wrote to its standard error.
func (b *Bag) TailOf(rank int) string {
	if o := b.OfRank(rank, collect.Stderr); o != nil {
		return o.tail()
	}
	return ""
}

// ofRank returns the template of the file of this rank. What all ranks print to the same file is the first one's.
func (b *Bag) ofRank(s collect.Stream) string {
	t := b.template(s)
	if b.rank > 0 && !b.Spec.Bag.OfEachRank(t) {
		return job.Discard
	}
	return t
}

// noteName returns the name of the note for the file of a stream (Parts).
func (b *Bag) noteName(s collect.Stream) string {
	if b.rank == 0 {
		return streamNames[s]
	}
	return streamNames[s] + "." + strconv.Itoa(b.rank)
}

// withholdMore is Withhold for the files of the other ranks, which are among Claims after the first ones.
func (b *Bag) withholdMore(first int, except []int32) {
	for _, m := range b.more {
		n := len(m.names())
		var own []int32
		for _, i := range except {
			if at := int(i) - first; at >= 0 && at < n {
				own = append(own, int32(at))
			}
		}
		m.Withhold(own)
		first += n
	}
}
