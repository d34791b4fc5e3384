package pixel
import ("testing";"fmt";"time";"slices";"math/rand/v2")
func TestTmp(t *testing.T) {
	for _, side := range []int{28,32,64,160,224,227,256,299,384} { for _, ch := range []int{1,3,4} { for _, lay := range []Layout{0,1} {
		fl := [2][]float64{}
		vals := &Affine{Scale: []float32{.1,.2,.3,.4}[:ch], Offset: []float32{-1,-2,-3,-4}[:ch]}
		w, _ := newWriter(ch, Float32, lay, vals, best())
		size := w.Bytes(side, side)
		n := 300<<20/size
		mem := mapMemory(t, n*size)
		for i := 0; i < len(mem); i += 4096 { mem[i] = 1 }
		src := Picture{randomBytes(rand.New(rand.NewPCG(1,2)), side*side*ch), side*ch, side, side, ch}
		k := 0
		reps := 400; inner := 1 + 100000/size
		for r := 0; r < reps; r++ { for f := 0; f < 2; f++ {
			s := time.Now()
			for j := 0; j < inner; j++ { if err := w.Write(mem[k%n*size:][:size], src, f==1, false); err != nil { t.Fatal(err) }; k++ }
			fl[f] = append(fl[f], float64(time.Since(s).Nanoseconds())/float64(inner))
		}}
		slices.Sort(fl[0]); slices.Sort(fl[1])
		fmt.Printf("side %d ch %d layout %d: %.1f / flip %.1f us  GB/s %.1f\n", side, ch, lay, fl[0][reps/2]/1e3, fl[1][reps/2]/1e3, float64(size)/fl[0][reps/2])
		if side == 224 { fmt.Println("allocs", testing.AllocsPerRun(10, func(){ w.Write(mem[:size], src, true, true) })) }
	}}}
}
