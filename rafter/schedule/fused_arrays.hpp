// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <rafter/schedule/cell_dofs.hpp>

namespace rafter::schedule {

/// A field on its way to or from the points. Each stage takes the place of one that nothing needs any more: a line, a
/// column or a layer is read before it is written.
struct FieldStages {
  int components = 1;
  int nodes = 0; ///< dofs per direction
  bool interpolates = false;
  std::string dofs; ///< gathered or to be scattered, cells in lanes: `values`, or an array of their own
  std::optional<CellDofs> cell_dofs; ///< where points stand in lanes
  std::string partial; ///< (component, last-axis dof, points of the other axes): `last`, or `values` without it
  std::string values;  ///< (component, point)
  std::string last;    ///< derivative along the last axis, (component, point)
  std::string middle;  ///< 3D: derivative along axis 1 on one layer, (component, point of the layer)
  std::string line, line_value; ///< derivative along axis 0 (and flux with the value) on a slab, (component, point)
};

/// Work arrays of a collocated program whose steps are fused, places in them, and what is done to lines of them.
class FusedArrays {
public:
  FusedArrays(Context& program_context, bool points_in_lanes);

  Context& context;
  const kernel::TensorProgram& program;
  const int dim, q, vector_width; ///< `q`: points per direction
  const int last_axis;
  const bool has_point_lanes;
  const int line;                           ///< entries of a line of points along axis 0: points, or vectors of them
  const int columns;                        ///< entries of a layer
  const int slab;                           ///< entries that derivatives along axis 0 are taken of at a time
  const int layer;                          ///< entries from one layer of the last axis to the next
  const int volume;                         ///< entries of a component
  std::vector<FieldStages> inputs, outputs; ///< `inputs`: fields in order, then the geometry nodes

  const kernel::ReferenceMatrix& matrix(int i) const { return program.matrices[static_cast<std::size_t>(i)]; }
  int rows_of(const FieldStages& s) const { return dim == 3 ? s.nodes : 1; } ///< lines of dofs along axis 0 in a layer

  /// Dofs stand densely in an array of their own; else those of a layer at its begin, those that are values in the
  /// points at their place.
  Placement placement(const FieldStages& s) const;
  /// Number of a line of dofs along axis 0, over all components.
  NodePtr line_number(const FieldStages& s, const NodePtr& component, const NodePtr& k, const NodePtr& row) const;
  /// First entry of layer k of the last axis.
  NodePtr layer_of(const NodePtr& component, const NodePtr& k) const;
  // First entries of what the loops over q2 and q1 are at: in arrays of all points a layer and a line, in `line` a
  // line.
  NodePtr layer_base(const NodePtr& component) const;
  NodePtr line_base(const NodePtr& component) const;
  NodePtr slab_base(const NodePtr& component) const;

  /// matrix times a line along axis 1 or 2, from one array to another.
  void map_line(const kernel::ReferenceMatrix& m, const std::string& source, const NodePtr& source_base,
                const std::string& target, const NodePtr& target_base, Statements& to, bool adds = false) const;
  // Along axis 0 the points of a line stand in its entries, or in the lanes of them; dofs always in entries.
  std::vector<NodePtr> load_first(const std::string& array, const NodePtr& base, int count, Statements& to) const;
  std::vector<NodePtr> apply_first(const kernel::ReferenceMatrix& m, const std::vector<NodePtr>& line,
                                   Statements& to) const;
  // Dofs that are the values in the points, where points stand in lanes.
  void dofs_to_values(const FieldStages& s, Statements& to) const;
  void values_to_dofs(const FieldStages& s, Statements& to) const;
  /// Work array of one layer between axes 0 and 1.
  std::string work_plane() const;

private:
  FieldStages declare(const std::string& name, int components, int nodes, bool interpolates,
                      const std::array<int, 3>& derivatives, bool is_output, bool has_value) const;
  void declare_inputs();
  void declare_outputs();
  void
  each_dof_line(const FieldStages& s, Statements& to,
                const std::function<void(const NodePtr& number, const NodePtr& values, Statements& body)>& move) const;
};

/// A loop from 0 to count - 1.
NodePtr for_each(const std::string& name, int count, Statements body);

} // namespace rafter::schedule
